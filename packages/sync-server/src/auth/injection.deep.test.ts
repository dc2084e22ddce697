import { describe, expect, it } from 'vitest';
import { checkNamesAsValues, checkNamesOfDatabases } from '../testing/made-up-names.ts';
import { serverUnderTest } from '../testing/server-under-test.ts';

const tested = serverUnderTest();

describe('names that clients make up', () => {
  it('open no database and touch no file, 10,000 of them', async () => {
    await expect(checkNamesOfDatabases(tested.server, 10_000)).resolves.toBeUndefined();
  });

  it('are values like any other, 5,000 of them', async () => {
    await expect(checkNamesAsValues(tested.server, 5_000)).resolves.toBeUndefined();
  });
});
