import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sha256 } from '../bytes/sha256.ts';
import { clientMessage, serverMessage } from '../testing/arbitraries.ts';
import { encodeMessage } from './message-codec.ts';
import { PROTOCOL_FLOOR, PROTOCOL_VERSION } from './protocol-version.ts';

const HASH_OF_VERSION: Readonly<Record<number, string>> = { 1: 'f38f5a27b70002f5254009e31e3dfdb5940d7fe3f271f4ec90e79ae95be3d972' };

it('changes its version when the bytes of any message change', () => {
  // The same seed gives the same messages: 400 of each side, all fields and their edges.
  const messages = [fc.sample(clientMessage, { seed: 1, numRuns: 400 }), fc.sample(serverMessage, { seed: 1, numRuns: 400 })].flat();
  const hex = [...sha256(...messages.map(encodeMessage))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  // Different bytes: raise PROTOCOL_VERSION, add its line, record its frames, and put the new hash here.
  expect({ [PROTOCOL_VERSION]: hex }).toEqual({ [PROTOCOL_VERSION]: HASH_OF_VERSION[PROTOCOL_VERSION] });
  expect(PROTOCOL_FLOOR).toBeLessThanOrEqual(PROTOCOL_VERSION);
});
