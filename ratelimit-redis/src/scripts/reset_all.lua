-- Removes some of the budgets of a limit, and says where to go on. When the limit was first used is remembered.
local cursor, pattern = string.match(ARGV[1], '(%d+) (.*)')
local found = redis.call('SCAN', cursor, 'MATCH', pattern, 'COUNT', 1000)
for _, key in ipairs(found[2]) do
  if not string.find(key, ':first-use', 1, true) then
    redis.call('UNLINK', key)
  end
end
return found[1]
