export * from './client.ts';
export * from './errors.ts';
export * from './types.ts';
export * from './verify-webhook.ts';
