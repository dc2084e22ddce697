import type { Connection } from '../sqlite/connection.ts';
import type { CaptureTable } from './capture-table.ts';
import type { Capture, CapturedChanges } from './captured-changes.ts';
import { SessionCapture } from './session-capture.ts';
import { TriggerCapture } from './trigger-capture.ts';

/** Captures each table the way that works for it: with a session, or with triggers where it has generated columns. */
export function createCapture(connection: Connection, tables: readonly CaptureTable[]): Capture {
  const session = new SessionCapture(
    connection,
    tables.filter(({ hasGenerated }) => !hasGenerated),
  );
  const generated = tables.filter(({ hasGenerated }) => hasGenerated);
  return generated.length === 0 ? session : both(session, new TriggerCapture(connection, generated));
}

function both(first: Capture, second: Capture): Capture {
  return {
    begin: () => {
      first.begin();
      second.begin();
    },
    take: () => inOrder(first.take(), second.take()),
    end: () => {
      first.end();
      second.end();
    },
    close: () => {
      first.close();
      second.close();
    },
  };
}

/** Deletes first, then updates, then inserts, over the tables of both. */
function inOrder(a: CapturedChanges, b: CapturedChanges): CapturedChanges {
  if (b.groups.length === 0) return a;
  if (a.groups.length === 0) return b;
  const pairs = [a, b].flatMap(({ groups, before }) => groups.map((group, i) => ({ group, before: before[i] })));
  const rank = { delete: 0, update: 1, insert: 2 };
  pairs.sort((x, y) => rank[x.group.kind] - rank[y.group.kind]);
  return { groups: pairs.map(({ group }) => group), before: pairs.flatMap(({ before }) => (before === undefined ? [] : [before])) };
}
