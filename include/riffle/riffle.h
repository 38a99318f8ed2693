/* riffle.h - the whole library. */
#ifndef RIFFLE_RIFFLE_H
#define RIFFLE_RIFFLE_H

#include <riffle/alloc.h>
#include <riffle/attach.h>
#include <riffle/cache.h>
#include <riffle/collect.h>
#include <riffle/control.h>
#include <riffle/coproc.h>
#include <riffle/diff.h>
#include <riffle/engine.h>
#include <riffle/event.h>
#include <riffle/export.h>
#include <riffle/gen.h>
#include <riffle/invariance.h>
#include <riffle/item.h>
#include <riffle/live.h>
#include <riffle/machine.h>
#include <riffle/measure.h>
#include <riffle/module.h>
#include <riffle/option.h>
#include <riffle/overhead.h>
#include <riffle/probe.h>
#include <riffle/productions.h>
#include <riffle/profile.h>
#include <riffle/profiler.h>
#include <riffle/range.h>
#include <riffle/rap.h>
#include <riffle/report.h>
#include <riffle/selector.h>
#include <riffle/source.h>
#include <riffle/status.h>
#include <riffle/symbol.h>
#include <riffle/text.h>
#include <riffle/trace.h>
#include <riffle/view.h>

#endif
