import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { harbourChecking } from '../../samples/harbour-checking.ts';
import { meridianGiro } from '../../samples/meridian-giro.ts';

describe('the sample exports', () => {
  it('match the generator’s output, byte for byte', () => {
    expect(readFileSync(new URL('../../public/samples/meridian-giro.csv', import.meta.url), 'latin1')).toBe(
      meridianGiro(),
    );
    expect(readFileSync(new URL('../../public/samples/harbour-checking.csv', import.meta.url), 'utf8')).toBe(
      harbourChecking(),
    );
  });
});
