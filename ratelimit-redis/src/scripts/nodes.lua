-- Notes that a process is there, and says how many are. As a write it also shows that the server takes some.
local process, until_forgotten = ARGV[1], tonumber(ARGV[2]) * 1000
redis.call('ZADD', KEYS[1], string.format('%.0f', raw), process)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.0f', raw - until_forgotten))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
