-- Notes things that were done, and drops the oldest of what is over the limit.
--
-- ARGV[5]  how many are kept
-- ARGV[6…] the entries in their order, JSON
-- Body     {}

if repeated then
  return answer(repeated)
end

for i = 6, #ARGV do
  call('XADD', prefix .. 'audit', 'MAXLEN', ARGV[5], '*', 'entry', ARGV[i])
end
return finish({})
