-- Claims the id of a plan while it is made, or gives it up, so that no two shards make one of the same id.
--
-- ARGV  id, claim: a random name of it, 1 to claim it, 0 to give it up
-- Body  {1} if it is claimed or given up, {0} if it is claimed by another

-- Longer than any call is repeated.
local CLAIM_MS = 15000

if repeated then
  return answer(repeated)
end

local key = prefix .. 'plan:claim:' .. escape(ARGV[5])
local claim = call('GET', key)
if claim and claim ~= ARGV[6] then
  return finish({0})
end
if ARGV[7] == '1' then
  call('SET', key, ARGV[6], 'PX', CLAIM_MS)
else
  call('DEL', key)
end
return finish({1})
