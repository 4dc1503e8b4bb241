-- Commits decisions about tasks, each whole or not at all.
--
-- ARGV  changes to the end, each:
--       queue, id, birth, change: the version the decision was made from
--       fate: same, keep, rewrite, reserve, remove
--       receipt: 4 digits of its string and 10 bytes, or ''
--       how many tasks who gets it may hold here (see held.lua), or ''
--       keep and rewrite: status, ready, lane, expiry or '', end of the hold or '', end of the task or
--         '', end of its keeping or '', the number of fields, and those (for keep only those that
--         change); rewrite: whether the payload gets a key of its own, and then that
--       reserve: until when
--       number of tasks it makes, each: the number of a shard and the task packed, or 'here', its queue,
--         the number of the queue's initial fields, those, and the task as `pushed_task` reads it
-- Body  {letters}: one per change: k(ept), l(ost)

if repeated then
  return answer(repeated)
end

local letters = {}
while i <= #ARGV do
  local change = read_change()
  local is_kept = is_current(change)
  if is_kept then
    apply(change)
  end
  letters[#letters + 1] = is_kept and 'k' or 'l'
end
return finish({table.concat(letters)})
