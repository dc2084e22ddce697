// Runs the tests of documents with the oldest Yjs that the packages allow.
import { expect, it, vi } from 'vitest';
import * as allowed from 'yjs-floor';
import * as used from 'yjs';
import './document.property.test.ts';
import './hostile-edits.test.ts';
import './rich-text.property.test.ts';
import './write-json.property.test.ts';

vi.mock('yjs', () => import('yjs-floor'));

it('the oldest supported Yjs is the version that these tests ran with', () => {
  expect(used.Doc).toBe(allowed.Doc);
});
