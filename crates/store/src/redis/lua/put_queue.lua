-- Stores a queue, if it is still as it was.
--
-- ARGV  queue
--       rev: its revision as it was, '' if it did not exist
--       1 if the mode changes, 1 if the rate changes
--       fields to the end
-- Body  {'KEPT', rev}, {'LOST'} (it is not as it was), {'HOLDS'} (its mode would change while it holds
--       tasks or bundles)

if repeated then
  return answer(repeated)
end

local name = ARGV[5]
local q = open(name)
if (q and q.rev or '') ~= ARGV[6] then
  return finish({'LOST'})
end
local fields = {unpack(ARGV, 9)}
if not q then
  q = create_queue(name, fields)
  return finish({'KEPT', q.rev})
end
if ARGV[7] == '1' then
  local count = q.number + call('ZCARD', prefix .. 'bundles:' .. q.escaped)
  for state in pairs(FINISHED) do
    count = count + call('ZCARD', state_key(q, state))
  end
  if count > 0 then
    return finish({'HOLDS'})
  end
end
if ARGV[8] == '1' then
  call('HDEL', q.key, 'limit', 'per', 'level', 'filled')
end
local rev = whole(new_birth())
call('HDEL', q.key, 'concurrency')
call('HSET', q.key, 'rev', rev, unpack(fields))
opened, opened_names = {}, {}
q = open(name)
q.is_changed = true
return finish({'KEPT', rev})
