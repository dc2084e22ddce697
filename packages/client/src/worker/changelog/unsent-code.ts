import { encodeOrigin } from '@rockpool/shared';
import { lowestSequence } from './renumber.ts';
import type { UnsentCode } from './unsent.ts';

export const UNSENT_CODE: UnsentCode = { encodeOrigin, lowestSequence };
