import { answerCalls } from '../page/answer-calls.ts';
import { createHost } from '../page/host.ts';
import { ADAPTERS } from './adapters.ts';

answerCalls(createHost(ADAPTERS));
