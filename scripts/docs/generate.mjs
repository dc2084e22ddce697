// Writes the generated pages and charts of docs/. Run it after a change of an API, an error code, a setting or a
// decision: `npm run docs:generate`. scripts/docs/generated.test.mjs fails while a file is out of date.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../children.mjs';
import { generatedFiles } from './pages.mjs';

for (const [path, content] of generatedFiles()) writeFileSync(join(root, path), content);
