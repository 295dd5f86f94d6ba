import { app } from '../../api/src/app.module.js';
import { projector } from '../../projector/src/projector.module.js';
import { worker } from '../../worker/src/worker.module.js';
import { filter } from '../../api/src/http/error-envelope.filter.js';
import { gate } from '../../api/src/gate/gate.module.js';
import { cli } from '../../cli/src/cli.module.js';

export const used = [app, projector, worker, filter, gate, cli];
