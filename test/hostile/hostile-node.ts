import type { FrameToNode } from '@svc/contracts';
import { toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import type { ScriptedNode } from '@svc/testkit';

export function inventedIds(count: number): string[] {
  return Array.from({ length: count }, () => toWireId('sub', newId()));
}

const lookIntervalMs = 5;

function follow(node: ScriptedNode, act: (frame: FrameToNode) => void): () => void {
  let seen = 0;
  const timer = setInterval(() => {
    for (const frame of node.frames.slice(seen)) act(frame);
    seen = node.frames.length;
  }, lookIntervalMs);
  return () => clearInterval(timer);
}

export interface Hostile {
  payloads(): number;
  stop(): void;
}

/** Usage far above the caps of a run that completes right after `begin` (CONTRACT 7, "Usage"). */
const inflated = { nodeSeconds: 1e9, cpuSeconds: 1e12, memoryGbSeconds: 1e12, actions: 1e12 };

/**
 * Sends usage for 90 invented submissions, and accepts every offer. Starts at most `startedMax`
 * jobs, and completes them with inflated usage.
 */
export function playHostile(node: ScriptedNode, startedMax: number): Hostile {
  let payloads = 0;
  for (const submissionId of inventedIds(90)) node.send({ type: 'usage', submissionId, usage: {} });
  const stop = follow(node, (frame) => {
    switch (frame.type) {
      case 'offer':
        node.send({ type: 'accept', offerId: frame.offerId });
        return;
      case 'assign':
        payloads += 1;
        if (payloads <= startedMax) node.send({ type: 'start', submissionId: frame.submissionId });
        return;
      case 'begin': {
        const { submissionId } = frame;
        node.send({ type: 'completed', submissionId, usage: inflated, result: {} });
        return;
      }
      case 'cancel':
        node.send({ type: 'stopped', submissionId: frame.submissionId, usage: {} });
        return;
      case 'ack':
      case 'drain':
      case 'error':
      case 'recorded':
      case 'revoke':
      case 'welcome':
    }
  });
  return { payloads: () => payloads, stop };
}
