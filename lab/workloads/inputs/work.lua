-- Tables, strings, closures and numbers: a sieve, words counted, matrices, a queue of events.
local function sieve(n)
  local composite, count = {}, 0
  for i = 2, n do
    if not composite[i] then
      count = count + 1
      for j = i * i, n, i do composite[j] = true end
    end
  end
  return count
end

local function words(n)
  local seen, state, longest = {}, 42, ""
  for _ = 1, n do
    state = (state * 1103515245 + 12345) % 2147483648
    local word = string.format("%x", state >> 12):rep(state % 3 + 1)
    seen[word] = (seen[word] or 0) + 1
    if #word > #longest then longest = word end
  end
  local kinds = 0
  for _ in pairs(seen) do kinds = kinds + 1 end
  return kinds, longest
end

local function multiply(n)
  local a, b, trace = {}, {}, 0
  for i = 1, n do
    a[i], b[i] = {}, {}
    for j = 1, n do a[i][j], b[i][j] = i + j / n, i - j / n end
  end
  for i = 1, n do
    for j = 1, n do
      local sum = 0
      for k = 1, n do sum = sum + a[i][k] * b[k][j] end
      if i == j then trace = trace + sum end
    end
  end
  return trace
end

local function simulate(n)
  local queue, clock, served = {}, 0, 0
  local function at(time, what)
    local place = #queue + 1
    while place > 1 and queue[place - 1].time < time do place = place - 1 end
    table.insert(queue, place, {time = time, what = what})
  end
  local function arrive()
    served = served + 1
    if served < n then at(clock + served % 7 + 1, arrive) end
    at(clock + 3, function() served = served + 0.25 end)
  end
  at(0, arrive)
  while #queue > 0 do
    local event = table.remove(queue)
    clock = event.time
    event.what()
  end
  return clock, served
end

print("primes", sieve(40000))
print("words", words(8000))
print(string.format("trace %.6f", multiply(40)))
print("clock", simulate(1500))
