-- The time in microseconds, read once, and how many milliseconds a key outlives what it counts.
local clock = redis.call('TIME')
local raw = clock[1] * 1000000 + clock[2]
local margin = 1000

