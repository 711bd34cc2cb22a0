export const plainQueue = 'plain-webhooks';

export interface PlainJob {
  readonly id: string;
  readonly url: string;
  readonly body: string;
}
