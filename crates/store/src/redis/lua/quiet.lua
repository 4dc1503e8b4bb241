-- Takes an owner whose record cannot be read out of all that is sorted by time, so that it keeps no other
-- from being looked after.
--
-- ARGV  kind, queue, name; birth and change of what was read
-- Body  {}

if repeated then
  return answer(repeated)
end

local o = owner_at(ARGV[5], ARGV[6], ARGV[7])
if find_owner(o) and o.birth == tonumber(ARGV[8]) and o.change == tonumber(ARGV[9]) then
  call('HSET', o.meta, 'alarm', '')
  if o.timer_key then
    call('HSET', o.meta, 'timer', '')
  end
  if o.due_key then
    call('HSET', o.meta, 'due', '')
  end
  displace_owner(o)
end
return finish({})
