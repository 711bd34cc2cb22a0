import { redisScript } from './redis-script.ts';

/**
 * `takeToken` of the domain over a bucket in Redis, by Redis's clock, so that all gateways share
 * it. ARGV: tokens a second, burst. Answers whether a token was taken, and the tokens left as text,
 * because Lua's numbers would be cut to whole ones. A full bucket is no key at all.
 */
export const takeTokenScript = redisScript(`
local perSecond = tonumber(ARGV[1])
local burst = tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local tokens = burst
local kept = redis.call('HMGET', KEYS[1], 'tokens', 'at')
if kept[1] then
  local elapsed = math.max(now - tonumber(kept[2]), 0)
  tokens = math.min(tonumber(kept[1]) + elapsed * perSecond / 1000, burst)
end
local allowed = 0
if tokens >= 1 then
  tokens = tokens - 1
  allowed = 1
end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.3f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((burst - tokens) * 1000 / perSecond) + 1000)
return { allowed, string.format('%.6f', tokens) }
`);
