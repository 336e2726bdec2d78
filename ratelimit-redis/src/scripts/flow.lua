-- token_bucket, gcra and leaky_bucket: when the budget would be full again.
--
-- That is a number of whole microseconds and a part of one, in units of which `max * 1000` make a microsecond: so a permit,
-- `window` nanoseconds of `max` permits, is a whole number of units at any rate. What takes a multiplication that a
-- double cannot hold was done by the caller.
local max, length = tonumber(ARGV[4]), tonumber(ARGV[5])
local cost_whole, cost_part = tonumber(ARGV[6]), tonumber(ARGV[7])
local room_whole, room_part = tonumber(ARGV[8]), tonumber(ARGV[9])
local untouched, given = tonumber(ARGV[10]), tonumber(ARGV[11])
local units = max * 1000

local whole, part, latest = untouched, 0, 0
local state = redis.pcall('GET', key)
if state then
  local by_max, by_length, _
  if type(state) == 'string' and #state == 41 and string.byte(state) == 70 then
    _, whole, part, by_max, by_length, latest = unpack('<c1ddddd', state)
  end
  if by_max ~= max or by_length ~= length then
    -- Charged under another limit.
    local permits
    permits, latest = held()
    whole, part = latest + math.ceil(permits * length / units - 0.001), 0
  end
end
local now = math.max(raw, latest)
if whole < now then
  whole, part = now, 0
end

local function write()
  redis.call('SET', key, pack('<c1ddddd', 'F', whole, part, max, length, now), 'PX', life(whole + 1))
end

if verb == 'give' then
  -- Less what has flowed since, and no more than is in use.
  local back = cost_whole - math.max(now - given, 0)
  if not state or back < 0 or (whole == now and part == 0) then
    return 0
  end
  whole, part = whole - back, part - cost_part
  if part < 0 then
    whole, part = whole - 1, part + units
  end
  if whole < now then
    whole, part = now, 0
  end
  write()
  return 1
end

-- When there is room.
local ready, rest = whole - room_whole, part - room_part
if rest < 0 then
  ready, rest = ready - 1, rest + units
end
if rest > 0 then
  ready = ready + 1
end
if cost > 0 and ready > now then
  return { 0, whole - now, ready - raw, part }
end
if verb == 'look' then
  return { 1, whole - now, 0, part }
end
local clear = whole
whole, part = whole + cost_whole, part + cost_part
if part >= units then
  whole, part = whole + 1, part - units
end
write()
return { 1, whole - now, now, part, clear }
