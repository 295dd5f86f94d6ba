import { EXIT } from './cli-error.js';
import { runProgram } from './program.js';
import { processTerminal } from './terminal.js';

const terminal = processTerminal();
const exitCode = await runProgram(process.argv.slice(2), terminal);
process.exitCode = terminal.isCut && exitCode === EXIT.fine ? EXIT.unusable : exitCode;
