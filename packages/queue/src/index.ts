export * from './redis.ts';
export * from './job-schemas.ts';
export * from './producer.ts';
export * from './consumer.ts';
export * from './reply-channel.ts';
export * from './fleet-registry.ts';
export * from './dispatcher-bus.ts';
export * from './queue-status.ts';
export { createRateLimiter, type RateLimiter } from './rate-limit.ts';
