// `npm run bench -- storage`: the storage compared with its peers, in Chromium; in Firefox and WebKitGTK, compared with
// direct use of IndexedDB.
import { runGroup } from './storage/group.ts';
import { FILE_SUBJECTS, FIREFOX_SUBJECTS, INDEXEDDB_SUBJECTS, WEBKIT_SUBJECTS } from './storage/subjects.ts';
import { TARGETS } from './storage/targets.ts';
import { FILE_PLAN, FIREFOX_PLAN, INDEXEDDB_PLAN, WEBKIT_PLAN } from './storage/workloads.ts';

await runGroup(
  'storage',
  [
    { plan: FILE_PLAN, subjects: FILE_SUBJECTS, browser: 'chromium' },
    { plan: INDEXEDDB_PLAN, subjects: INDEXEDDB_SUBJECTS, browser: 'chromium' },
    { plan: FIREFOX_PLAN, subjects: FIREFOX_SUBJECTS, browser: 'firefox' },
    { plan: WEBKIT_PLAN, subjects: WEBKIT_SUBJECTS, browser: 'webkit' },
  ],
  TARGETS,
);
