-- Notes that a process is there, and says how many are. As a write it also shows that the server takes some.
local life, process = string.match(ARGV[1], '(%d+) (.*)')
local forgotten = string.format('(%.0f', raw - life * 1000)
redis.call('ZADD', KEYS[1], string.format('%.0f', raw), process)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', forgotten)
redis.call('PEXPIRE', KEYS[1], life)
return redis.call('ZCARD', KEYS[1])
