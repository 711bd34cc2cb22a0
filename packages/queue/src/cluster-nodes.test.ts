import { expect, test } from 'vitest';
import { ownerOfSlot, parseClusterNodes } from './cluster-nodes.ts';

const asked = { host: 'seed', port: 7_001 };
const plain = { isEncrypted: false };

const text = [
  'a1 :7001@17001 myself,master - 0 0 1 connected 0-100 [101->-b2]',
  'b2 10.0.0.2:7002@17002,two.example,shard-id=x master - 0 0 2 connected 101 200-300',
  'c3 10.0.0.3:7003@17003 slave a1 0 0 1 connected',
  'd4 ::1:7004@17004 master,fail - 0 0 3 disconnected 400-500',
  'e5 :0@0 master,noaddr - 0 0 4 disconnected 600',
  '',
].join('\n');

test('the servers of a cluster are read with their address, epoch and slots', () => {
  expect(parseClusterNodes(text, asked, plain)).toEqual([
    { address: asked, isMaster: true, isFailed: false, epoch: 1, slots: [[0, 100]] },
    {
      address: { host: '10.0.0.2', port: 7_002 },
      isMaster: true,
      isFailed: false,
      epoch: 2,
      slots: [
        [101, 101],
        [200, 300],
      ],
    },
    {
      address: { host: '10.0.0.3', port: 7_003 },
      isMaster: false,
      isFailed: false,
      epoch: 1,
      slots: [],
    },
    {
      address: { host: '::1', port: 7_004 },
      isMaster: true,
      isFailed: true,
      epoch: 3,
      slots: [[400, 500]],
    },
  ]);
});

test('an encrypted connection uses the announced host name', () => {
  const [, second] = parseClusterNodes(text, asked, { isEncrypted: true });
  expect(second?.address).toEqual({ host: 'two.example', port: 7_002 });
});

test('a slot belongs to the newest of the masters that claim it', () => {
  const isolated = parseClusterNodes('a h:1@2 myself,master - 0 0 1 connected 0-9', asked, plain);
  const majority = parseClusterNodes('b h:2@3 myself,master - 0 0 5 connected 0-9', asked, plain);
  for (const nodes of [
    [...isolated, ...majority],
    [...majority, ...isolated],
  ]) {
    expect(ownerOfSlot(nodes, 4)).toEqual({ host: 'h', port: 2 });
  }
});

test('a slot whose master failed, or that nobody claims, has no owner', () => {
  const nodes = parseClusterNodes(text, asked, plain);
  expect(ownerOfSlot(nodes, 450)).toBeUndefined();
  expect(ownerOfSlot(nodes, 9_000)).toBeUndefined();
});
