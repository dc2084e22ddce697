// The script of a tab's dedicated worker.
import { expose } from 'comlink';
import { installErrorTransfer } from '../rpc/error-transfer.ts';
import { BROWSER } from './browser-environment.ts';
import { createHost } from './host.ts';

installErrorTransfer();
expose(createHost(BROWSER));
