import { describe, expect, it } from 'vitest';
import { withServer } from '#kit/with-server.ts';

const COUNT = 400;

describe('a delivery that exceeds one message', () => {
  it('arrives in parts and is committed once', () =>
    withServer(
      async (_server, device) => {
        const author = device();
        author.write(
          `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ${COUNT}) INSERT INTO account (id, name) SELECT 'a' || i, 'name ' || i FROM n`,
        );
        await author.upToDate();
        const reader = device();
        const counts = new Set<unknown>();
        await reader.until(() => {
          counts.add(reader.rows('SELECT count(*) FROM account').flat()[0]);
          return reader.report?.state === 'up-to-date';
        });
        expect(reader.messages.filter(({ type }) => type === 'delivery-part').length).toBeGreaterThan(5);
        expect(Math.max(...reader.messages.map(({ sizeBytes }) => sizeBytes))).toBeLessThan(1_200);
        expect([...counts]).toEqual([0, COUNT]);
        expect(reader.rows('SELECT * FROM account ORDER BY id')).toEqual(
          author.rows('SELECT * FROM account ORDER BY id'),
        );
      },
      { deliveryPartBytes: 1_000 },
    ));

  it('is discarded when the connection ends in the middle, and sent again', () =>
    withServer(
      async (_server, device) => {
        const author = device();
        author.write(
          `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ${COUNT}) INSERT INTO account (id, name) SELECT 'a' || i, 'name ' || i FROM n`,
        );
        await author.upToDate();
        const reader = device();
        reader.accepts = ({ type }) => {
          if (type !== 'delivery-part') return true;
          reader.accepts = () => true;
          reader.reconnect();
          return true;
        };
        await reader.upToDate();
        expect(reader.messages.filter(({ type }) => type === 'welcome')).toHaveLength(2);
        expect(reader.rows('SELECT count(*) FROM account')).toEqual([[COUNT]]);
        expect(reader.problems).toEqual([]);
      },
      { deliveryPartBytes: 1_000 },
    ));
});
