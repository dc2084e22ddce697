import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { anyCharacter } from '../../testing/any-character.ts';
import { utf8Length } from './utf8-length.ts';

const text = fc.string({ unit: anyCharacter }).map((value) => value.toWellFormed());

it('utf8Length counts the bytes of any text, and the encoded text decodes to the same text', () => {
  fc.assert(
    fc.property(text, (value) => {
      expect(utf8Length(value)).toBe(new TextEncoder().encode(value).length);
      const writer = new ByteWriter();
      writer.text(value);
      expect(new ByteReader(writer.finish(), 'frame-invalid').text()).toBe(value);
    }),
    { numRuns: 500 },
  );
});
