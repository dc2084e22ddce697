// The worker of every subject that needs one.
import { ADAPTERS } from '../storage/subjects.ts';
import { answerCalls } from './answer-calls.ts';
import { createHost } from './host.ts';

answerCalls(createHost(ADAPTERS));
