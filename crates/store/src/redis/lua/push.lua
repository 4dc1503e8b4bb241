-- Pushes tasks into a queue, in their order.
--
-- ARGV  queue
--       key, request, single, total, done, blob: of a keyed request, key '' for none. `total` tasks in
--       all, `done` of them pushed by earlier calls; `blob` is kept for whoever repeats the request.
--       tasks as `pushed_task` reads them, to the end
-- Body  {'PUSHED', letters, birth}: one letter per task (see `push`), the births of those that were kept
--         follow each other from `birth`
--       {'NOQUEUE'}
--       {'REUSED'}: the key belongs to another request
--       {'REPLAYED', letters, blob}: the request was carried out before, with these answers; fewer than
--         `total` letters: so much of it was

if repeated then
  return answer(repeated)
end

local keyed = {
  key = ARGV[6], request = ARGV[7], single = ARGV[8] == '1', total = tonumber(ARGV[9]),
  done = tonumber(ARGV[10]), blob = ARGV[11], at = now, letters = '',
}

if keyed.key ~= '' then
  local known = recall(keyed.key)
  if known then
    if known[2] ~= keyed.request then
      return finish({'REUSED'})
    elseif #known[3] ~= keyed.done or keyed.done == keyed.total then
      return finish({'REPLAYED', known[3], known[4]})
    end
    keyed.at, keyed.letters, keyed.blob, keyed.is_known = known[1], known[3], known[4], true
  end
end

local q = open(ARGV[5])
if not q then
  return finish({'NOQUEUE'})
end

local letters = {}
local i = 12
while i <= #ARGV do
  local task
  task, i = pushed_task(i)
  letters[#letters + 1] = push(q, task, q.max)
end
letters = table.concat(letters)

if keyed.key ~= '' and not (keyed.single and letters ~= 'k') then
  local known = {keyed.at, keyed.request, keyed.letters .. letters, keyed.blob, ARGV[5]}
  remember(keyed.key, known, keyed.is_known)
end
return finish({'PUSHED', letters, first_birth})
