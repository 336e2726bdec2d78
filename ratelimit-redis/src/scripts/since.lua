-- When a limit was first used: now, if nobody remembers.
local since = redis.call('GET', KEYS[1]) or string.format('%.0f', raw)
redis.call('SET', KEYS[1], since, 'PX', ARGV[1])
return tonumber(since)
