import { captureContract } from './capture.contract.ts';
import { createCapture } from './change-capture.ts';
import { SessionCapture } from './session-capture.ts';
import { TriggerCapture } from './trigger-capture.ts';

captureContract({ name: 'a session', create: (connection, tables) => new SessionCapture(connection, tables), handlesGeneratedColumns: false });
captureContract({ name: 'triggers', create: (connection, tables) => new TriggerCapture(connection, tables), handlesGeneratedColumns: true });
captureContract({ name: 'whichever works for each table', create: createCapture, handlesGeneratedColumns: true });
