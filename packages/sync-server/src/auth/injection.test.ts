import { describe, expect, it } from 'vitest';
import { checkNamesAsValues, checkNamesOfDatabases } from '../testing/made-up-names.ts';
import { serverUnderTest } from '../testing/server-under-test.ts';

const tested = serverUnderTest();

describe('names that clients make up', () => {
  it('open no database and touch no file, even with a token that lists them', { timeout: 120_000 }, async () => {
    await expect(checkNamesOfDatabases(tested.server, 150)).resolves.toBeUndefined();
  });

  it('are values like any other where a person or a text may have them', { timeout: 120_000 }, async () => {
    await expect(checkNamesAsValues(tested.server, 100)).resolves.toBeUndefined();
  });
});
