import { Module } from '@nestjs/common';
import { SubmitActionHandler } from '#libs/domain/gate';
import { ActionReader } from './action-reader.js';
import { AwaitAction } from './await-action.js';
import { GetActionController } from './get-action.controller.js';
import { ListActionsController } from './list-actions.controller.js';
import { ListActionsHandler } from './list-actions.query-handler.js';
import { ListAnswers } from '../lists/list-answers.js';
import { LongPolls } from './long-polls.js';
import { SubmitActionController } from './submit-action.controller.js';

@Module({
  controllers: [SubmitActionController, ListActionsController, GetActionController],
  providers: [SubmitActionHandler, ListActionsHandler, ActionReader, AwaitAction, LongPolls, ListAnswers],
  exports: [ActionReader],
})
export class GateModule {}
