-- Tables, strings, closures and numbers, as often as the first argument says.
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
  local seen, state, kinds = {}, 42, 0
  for _ = 1, n do
    state = (state * 1103515245 + 12345) % 2147483648
    local word = string.format("%x", state >> 18)
    if not seen[word] then kinds = kinds + 1 end
    seen[word] = (seen[word] or 0) + 1
  end
  return kinds
end

local function fibonacci(n)
  if n < 2 then return n end
  return fibonacci(n - 1) + fibonacci(n - 2)
end

local function compose(n)
  local f = function(x) return x end
  for i = 1, n do
    local g = f
    f = function(x) return g(x) + i % 3 end
  end
  return f(1)
end

for _ = 1, tonumber(arg[1] or "1") do
  print(sieve(60000), words(20000), fibonacci(22), compose(150))
end
