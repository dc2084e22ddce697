// The smallest app that uses every part of the client that runs on the page.
import { createClient, newId, RockpoolError, sql } from '#client/index.ts';

Object.assign(globalThis, { createClient, newId, RockpoolError, sql });
