-- Add to a counter of a fixed window; the first addition opens the window.
--
-- KEYS[1]  the counter: string, expires with its window
-- ARGV[1]  amount to add
-- ARGV[2]  length of the window, in milliseconds
--
-- Returns the new count, and the milliseconds until the window ends.

local count = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], left)
end
return {count, left}
