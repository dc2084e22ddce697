// `npm run bench -- client`: the client on an app's page, compared with the alternatives that a page has.
import { runGroup } from './storage/group.ts';
import { CLIENT_SUBJECTS } from './storage/subjects.ts';
import { CLIENT_TARGETS } from './storage/targets.ts';
import { CLIENT_PLAN } from './storage/workloads.ts';

await runGroup('client', [{ plan: CLIENT_PLAN, subjects: CLIENT_SUBJECTS, browser: 'chromium' }], CLIENT_TARGETS);
