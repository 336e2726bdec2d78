-- fixed_window: what is in use in the current window, and when that began.
local window, given = tonumber(ARGV[4]), tonumber(ARGV[6])
local used, latest, begins = held()
local now = math.max(raw, latest)
used = math.ceil(used)
if begins + window <= now then
  used = 0
end

local function write()
  redis.call('SET', key, pack('<c1dddd', 'W', used, begins, now, window), 'PX', life(begins + window))
end

if verb == 'give' then
  if used == 0 or begins ~= given then
    return 0
  end
  local back = math.min(used, cost)
  used = used - back
  write()
  return back
end

if cost > 0 and used + cost > capacity then
  return { 0, used, begins + window - raw }
end
if verb == 'look' then
  return { 1, used, 0 }
end
if used == 0 then
  begins = now
end
used = used + cost
write()
return { 1, used, begins }
