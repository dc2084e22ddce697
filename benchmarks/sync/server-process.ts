// node server-process.ts ENGINE PORT FOLDER: one engine's server in a process of its own, until it is killed or the
// process that started it ends.
import { ENGINES, type EngineName } from './engines.ts';

const [, , name, port, folder] = process.argv;
const { engine } = await ENGINES[name as EngineName]();
await engine.startServer(Number(port), folder as string);
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
