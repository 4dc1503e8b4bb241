-- Puts tasks into a queue as they are, each under its birth; whose id is there is left out.
--
-- ARGV  queue
--       tasks to the end, each: id, birth, change, 1 if it delivers a bundle; where it stands and all its
--       fields, as in commit.lua; 1 and the payload if that gets a key of its own, else 0
-- Body  {'ADMITTED'}, {'NOQUEUE'}

if repeated then
  return answer(repeated)
end

local function read_task()
  local id, birth, change, delivers = next_arg(), next_number(), next_arg(), next_arg() == '1'
  local task = read_placement()
  task.id, task.birth, task.change, task.bundle = id, birth, change, delivers
  task.payload = next_arg() == '1' and next_arg()
  return task
end

local function admit(q, task)
  local key, fields = task_key(q, task.id), task.fields
  if call('EXISTS', key) == 1 then
    return
  end
  task.worker = q.is_dispatch and task.hold and worker_in(fields)
  index(q, task)
  fields[#fields + 1], fields[#fields + 2] = 'birth', whole(task.birth)
  fields[#fields + 1], fields[#fields + 2] = 'change', task.change
  if task.pos then
    fields[#fields + 1], fields[#fields + 2] = 'pos', task.pos
  end
  call('HSET', key, unpack(fields))
  if task.payload then
    call('SET', payload_key(q, task.id), task.payload)
  end
end

local q = open(next_arg())
if not q then
  return finish({'NOQUEUE'})
end
while i <= #ARGV do
  admit(q, read_task())
end
return finish({'ADMITTED'})
