import { RockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { FAKE_STATUS, statement } from '../testing/fake-tabs.ts';
import type { ChannelMessage, WriteMessage } from './channel-message.ts';
import { Leadership, type WriteRequest } from './leadership.ts';

const NOW_MS = 1000;

interface World {
  readonly serve: (message: Partial<WriteMessage> & { readonly requestId: string }) => void;
  readonly written: string[];
  readonly posted: string[];
  failNext: boolean;
  localCommits: number;
}

function createWorld(): World {
  const requests = new Set<string>();
  const world: World = {
    serve: (message) => leadership.serve({ kind: 'write', epoch: 'mine', afterRequestId: null, statements: [statement(message.requestId)], latestStartMs: NOW_MS, ...message }),
    written: [],
    posted: [],
    failNext: false,
    localCommits: 0,
  };
  const leadership = new Leadership({
    epoch: 'mine',
    database: {
      write({ id }: WriteRequest) {
        if (requests.has(id)) return { results: [], touchedTables: ['t'], repeated: true };
        if (world.failNext) {
          world.failNext = false;
          throw new RockpoolError('constraint-check');
        }
        requests.add(id);
        world.written.push(id);
        return { results: [], touchedTables: ['t'], repeated: false };
      },
    },
    schema: 'schema',
    initialStatus: FAKE_STATUS,
    nowMs: () => NOW_MS,
    post: (message: ChannelMessage) => world.posted.push('requestId' in message ? `${message.kind} ${message.requestId}` : message.kind),
    startWork: () => ({ onLocalCommit: () => world.localCommits++, stop: () => Promise.resolve() }),
    onCommit: () => undefined,
    onStatus: () => undefined,
  });
  return world;
}

describe('a leader that is asked to write', () => {
  it('tells all of the commit, and then the author', () => {
    const { serve, posted } = createWorld();
    serve({ requestId: 'a' });
    expect(posted).toEqual(['commit', 'written a']);
  });

  it('passes over what another leader was asked', () => {
    const { serve, written, posted } = createWorld();
    serve({ requestId: 'a', epoch: 'before' });
    expect(written).toEqual([]);
    expect(posted).toEqual([]);
  });

  it('passes over what its author has given up', () => {
    const { serve, written } = createWorld();
    serve({ requestId: 'a', latestStartMs: NOW_MS - 1 });
    expect(written).toEqual([]);
  });

  it('does not begin before what the same tab wrote earlier', () => {
    const { serve, written } = createWorld();
    serve({ requestId: 'b', afterRequestId: 'a' });
    expect(written).toEqual([]);
    serve({ requestId: 'a' });
    serve({ requestId: 'b', afterRequestId: 'a' });
    expect(written).toEqual(['a', 'b']);
  });

  it('goes on after an earlier one that failed', () => {
    const world = createWorld();
    world.failNext = true;
    world.serve({ requestId: 'a' });
    world.serve({ requestId: 'b', afterRequestId: 'a' });
    expect(world.posted).toEqual(['refused a', 'commit', 'written b']);
  });

  it('answers again what it is asked again, and tells nobody of a commit that was none', () => {
    const world = createWorld();
    world.serve({ requestId: 'a' });
    world.serve({ requestId: 'a' });
    expect(world.written).toEqual(['a']);
    expect(world.posted).toEqual(['commit', 'written a', 'written a']);
    expect(world.localCommits).toBe(1);
  });

  it('refuses again what failed, although it might succeed now', () => {
    const world = createWorld();
    world.failNext = true;
    world.serve({ requestId: 'a' });
    world.serve({ requestId: 'a' });
    expect(world.written).toEqual([]);
    expect(world.posted).toEqual(['refused a', 'refused a']);
  });
});
