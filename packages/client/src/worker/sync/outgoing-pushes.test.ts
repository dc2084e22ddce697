import { PUSH_BYTES, type PushedChangeset } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { createOutgoingPushes, type OutgoingPushes } from './outgoing-pushes.ts';

const CHANGESETS = 10;

function pushesOfLargeChangesets(): { readonly pushes: OutgoingPushes; readonly calls: string[] } {
  const calls: string[] = [];
  const changeset = (sequence: number): PushedChangeset => ({
    sequence,
    stampUs: sequence,
    ageUs: 0,
    base: 0,
    body: new Uint8Array(PUSH_BYTES),
  });
  const source = {
    position: () => ({ lastSequence: CHANGESETS }),
    nextPush: (sequence: number) =>
      sequence >= CHANGESETS
        ? null
        : { previousHash: new Uint8Array(16), olderEpochUpTo: 0, changesets: [changeset(sequence + 1)] },
    flush: () => void calls.push('flush'),
  };
  const pushes = createOutgoingPushes(source, ({ changesets }) => {
    calls.push(`send ${changesets[0]?.sequence}`);
    return true;
  });
  return { pushes, calls };
}

it('every push is sent after a flush of its changesets', () => {
  const { pushes, calls } = pushesOfLargeChangesets();
  pushes.push(0);
  expect(calls.slice(0, 4)).toEqual(['flush', 'send 1', 'flush', 'send 2']);
});

it('the push window covers sent and undecided changesets, and is empty once the connection has ended', () => {
  const { pushes } = pushesOfLargeChangesets();
  expect(pushes.push(0)).toBe(4);
  expect(pushes.push(4)).toBe(4);
  pushes.decided(1);
  expect(pushes.push(4)).toBe(5);
  pushes.forget();
  expect(pushes.push(1)).toBe(5);
});

it('the push with which a copy compares its changesets is sent after a flush too', () => {
  const { pushes, calls } = pushesOfLargeChangesets();
  pushes.askWhatDiffers(CHANGESETS - 1, { lastAckedSequence: CHANGESETS, canWrite: true });
  expect(calls).toEqual(['flush', `send ${CHANGESETS}`]);
});

it('a copy compares its changesets only up to the last one that the server has', () => {
  const { pushes, calls } = pushesOfLargeChangesets();
  pushes.askWhatDiffers(1, { lastAckedSequence: 3, canWrite: true });
  expect(calls.filter((call) => call !== 'flush')).toEqual(['send 2', 'send 3']);
});

it('the first pushes of a connection are small, so that the server begins early', () => {
  const asked: number[] = [];
  const source = {
    position: () => ({ lastSequence: 100 }),
    nextPush: (sequence: number, maxBytes: number) => {
      asked.push(maxBytes);
      const body = new Uint8Array(maxBytes);
      const changeset = { sequence: sequence + 1, stampUs: 1, ageUs: 0, base: 0, body };
      return { previousHash: new Uint8Array(16), olderEpochUpTo: 0, changesets: [changeset] };
    },
    flush: () => undefined,
  };
  const pushes = createOutgoingPushes(source, () => true);
  pushes.push(0);
  const parts = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 1, 1, 1].map((part) => part * PUSH_BYTES);
  expect(asked).toEqual(parts);
  pushes.forget();
  pushes.push(0);
  expect(asked.slice(parts.length)).toEqual(parts);
});
