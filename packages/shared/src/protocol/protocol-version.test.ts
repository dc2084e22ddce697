import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sha256 } from '../bytes/sha256.ts';
import { clientMessage, serverMessage } from '../../testing/arbitraries.ts';
import { encodeMessage } from './message-codec.ts';
import { PROTOCOL_FLOOR, PROTOCOL_VERSION } from './protocol-version.ts';

const HASH_OF_VERSION: Readonly<Record<number, string>> = {
  1: '8f10a8b19c8a7eba13457901c3a4a81ec38f64aefcac961d948fc4132b46b35c',
  2: '2710d2eef46e248c5ac732789a61d363c964853c15eced46cc61d9e5802700bf',
  3: '2d792b44381da1fc4fedeb5adff201aa40520ad7dec65fc5bc87817b8ee8859d',
  4: '9072287ed76653b0cd310a3d57ba4d2ce319bb95ebc673957fcf00f171e6da4e',
};

it('the protocol gets a new version when the bytes of any message change', () => {
  // The same seed gives the same messages: 400 from each side, with all fields and their edge cases.
  const messages = [
    fc.sample(clientMessage, { seed: 1, numRuns: 400 }),
    fc.sample(serverMessage, { seed: 1, numRuns: 400 }),
  ].flat();
  const hex = [...sha256(...messages.map(encodeMessage))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  // If the bytes differ: raise PROTOCOL_VERSION, add its line, record its frames, and put the new hash here.
  expect({ [PROTOCOL_VERSION]: hex }).toEqual({ [PROTOCOL_VERSION]: HASH_OF_VERSION[PROTOCOL_VERSION] });
  expect(PROTOCOL_FLOOR).toBeLessThanOrEqual(PROTOCOL_VERSION);
});
