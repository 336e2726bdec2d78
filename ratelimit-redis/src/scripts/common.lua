local key, verb, cost, capacity = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

if verb == 'reset' then
  return redis.call('DEL', key)
end

-- An integer as text. Of itself Lua writes large ones with an exponent.
local function text(number)
  return string.format('%.0f', number)
end

-- For how long a key is kept that counts until `instant`.
local function life(instant)
  return text(math.ceil(math.max(instant - raw, 0) / 1000) + margin)
end

-- What the budget holds, whatever algorithm has charged it last: permits in use, when it was last charged, and since
-- when they count. Begun permits may be told as fractions.
local function held()
  local state = redis.pcall('GET', key)
  if not state then
    return 0, 0, 0
  end
  if type(state) == 'string' then
    local used, begins, latest, window = string.match(state, '^window (%d+) (%d+) (%d+) (%d+)$')
    if used then
      used, begins, latest = tonumber(used), tonumber(begins), tonumber(latest)
      if begins + window <= math.max(raw, latest) then
        used = 0
      end
      return used, latest, begins
    end
    local whole, part, max, length, at = string.match(state, '^flow (%d+) (%d+) (%d+) (%d+) (%d+)$')
    if not whole then
      error('the key holds no budget of this version')
    end
    local permits = ((whole - at) * 1000 * max + part) / length
    local near = math.floor(permits + 0.5)
    if math.abs(permits - near) < 0.000001 then
      permits = near
    end
    return permits, tonumber(at), tonumber(at)
  end
  local entries = redis.call('LRANGE', key, 0, -1)
  local latest, window = string.match(entries[1], '^%d+ (%d+) (%d+)$')
  if not latest then
    error('the key holds no budget of this version')
  end
  latest = tonumber(latest)
  local used, since, now = 0, latest, math.max(raw, latest)
  for i = #entries, 2, -1 do
    local instant, permits = string.match(entries[i], '^(%d+) (%d+)$')
    if instant + window <= now then
      break
    end
    used, since = used + permits, math.min(tonumber(instant), latest)
  end
  return used, latest, since
end

