import { describe, expect, it } from 'vitest';
import { ERROR_CODES, messageOf } from './error-codes.ts';
import { RockpoolError, toRockpoolError } from './rockpool-error.ts';

describe('RockpoolError', () => {
  it('survives being turned into data, sent and read back', () => {
    const error = new RockpoolError('storage-full', { table: 'entry', neededBytes: 5 });
    const read = RockpoolError.fromData(
      JSON.parse(JSON.stringify(error.toData())) as { code: string; fields: unknown },
    );
    expect(read).toMatchObject({
      code: 'storage-full',
      fields: { table: 'entry', neededBytes: 5 },
      recovery: 'free-space',
    });
    expect(read.message).toBe('The device is out of space; the change was not stored. (table=entry, neededBytes=5)');
  });

  it('has the code internal if its code is unknown, and drops fields that are not plain', () => {
    expect(RockpoolError.fromData({ code: 'from-the-future' }).code).toBe('internal');
    expect(RockpoolError.fromData({ code: 'internal', fields: { a: { b: 1 }, c: 1 } }).fields).toEqual({ c: 1 });
  });

  it('hides the message of foreign errors, which may contain values', () => {
    expect(toRockpoolError(new TypeError('secret')).message).not.toContain('secret');
  });

  it('has a sentence for every code, and lists the codes in alphabetical order', () => {
    for (const code of ERROR_CODES) expect(messageOf(code)).toMatch(/^[A-Z].*\.$/);
    expect([...ERROR_CODES]).toEqual([...ERROR_CODES].sort());
  });
});
