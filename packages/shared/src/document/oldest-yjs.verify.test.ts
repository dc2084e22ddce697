// Runs documents with the oldest Yjs that the packages allow, both alone and together with the newest.
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import * as allowed from 'yjs-floor';
import * as used from 'yjs';
import { atLevel } from '../../../../tests/kit/level.ts';
import './hostile-edits.test.ts';

vi.mock('yjs', () => import('yjs-floor'));

it('the oldest supported Yjs is the version that these tests ran with', () => {
  expect(used.Doc).toBe(allowed.Doc);
});

type Edit = readonly [
  device: number,
  kind: 'insert' | 'delete' | 'format' | 'set' | 'exchange',
  at: number,
  what: number,
];

const edits = fc.array(
  fc.tuple(
    fc.nat(3),
    fc.constantFrom('insert', 'delete', 'format', 'set', 'exchange'),
    fc.nat(30),
    fc.nat(5),
  ) as fc.Arbitrary<Edit>,
  { maxLength: 40 },
);

it('the oldest and the newest supported Yjs produce the same document on every device', async () => {
  const newest = await vi.importActual<typeof used>('yjs');
  expect(newest.Doc).not.toBe(allowed.Doc);
  fc.assert(
    fc.property(edits, (history) => {
      // TypeScript treats the classes of the two versions as unrelated.
      const oldest = allowed as unknown as typeof newest;
      const devices = [oldest, newest, oldest, newest].map((yjs, index) => {
        const doc = new yjs.Doc({ gc: true });
        doc.clientID = index + 1;
        return { yjs, doc };
      });
      const exchange = (): void => {
        const updates = devices.map(({ yjs, doc }) => yjs.encodeStateAsUpdate(doc));
        for (const { yjs, doc } of devices) for (const update of updates) yjs.applyUpdate(doc, update);
      };
      for (const [device, kind, at, what] of history) {
        const { doc } = devices[device]!;
        const text = doc.getText('text');
        const place = Math.min(at, text.length);
        if (kind === 'insert') text.insert(place, 'abcdef'.slice(what));
        else if (kind === 'delete') text.delete(place, Math.min(what, text.length - place));
        else if (kind === 'format')
          text.format(place, Math.min(what, text.length - place), { bold: at % 2 === 0 ? true : null });
        else if (kind === 'set') doc.getMap('map').set(`key${what}`, at);
        else exchange();
      }
      exchange();
      exchange(); // The cleanup of a text with formats is an edit, too.
      exchange();
      const [first, ...others] = devices.map(({ doc }) =>
        JSON.stringify([
          doc.getText('text').toDelta(),
          Object.entries(doc.getMap('map').toJSON()).sort(([one], [other]) => (one < other ? -1 : 1)),
        ]),
      );
      for (const other of others) expect(other).toBe(first);
    }),
    { numRuns: atLevel({ test: 100, verify: 300 }) },
  );
});
