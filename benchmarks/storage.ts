// `npm run bench -- storage`: the storage beside its peers, in Chromium.
import { runGroup } from './storage/group.ts';
import { FILE_SUBJECTS, INDEXEDDB_SUBJECTS } from './storage/subjects.ts';
import { TARGETS } from './storage/targets.ts';
import { FILE_PLAN, INDEXEDDB_PLAN } from './storage/workloads.ts';

await runGroup(
  'storage',
  [
    { plan: FILE_PLAN, subjects: FILE_SUBJECTS },
    { plan: INDEXEDDB_PLAN, subjects: INDEXEDDB_SUBJECTS },
  ],
  TARGETS,
);
