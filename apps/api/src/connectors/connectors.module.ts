import { Module } from '@nestjs/common';
import {
  AcceptToolsHandler,
  CreateConnectorHandler,
  DeleteConnectorHandler,
  PutCredentialsHandler,
  RemoveCredentialsHandler,
  UpdateConnectorHandler,
} from '#libs/domain/connectors';
import { LedgerModule } from '../ledger/ledger.module.js';
import { ListAnswers } from '../lists/list-answers.js';
import { PolicyLinter } from '../policies/policy-linter.js';
import { ConnectorAnswers } from './connector-answers.js';
import { ConnectorConditions } from './connector-conditions.js';
import { ConnectorTestsController } from './connector-tests.controller.js';
import { ConnectorToolsController } from './connector-tools.controller.js';
import { ConnectorToolsReader } from './connector-tools.reader.js';
import { ConnectorTypesController } from './connector-types.controller.js';
import { ConnectorsController } from './connectors.controller.js';
import { CredentialsController } from './credentials.controller.js';
import { FindConnectorNameHandler } from './find-connector.query-handler.js';
import { ListConnectorsHandler } from './list-connectors.query-handler.js';
import { ListToolsController } from './list-tools.controller.js';
import { ListToolsHandler } from './list-tools.query-handler.js';
import { OrganizationTools } from './organization-tools.js';
import { ServedWords } from './served-words.js';

@Module({
  imports: [LedgerModule],
  controllers: [
    ConnectorsController,
    CredentialsController,
    ConnectorTestsController,
    ConnectorToolsController,
    ConnectorTypesController,
    ListToolsController,
  ],
  providers: [
    AcceptToolsHandler,
    CreateConnectorHandler,
    UpdateConnectorHandler,
    DeleteConnectorHandler,
    PutCredentialsHandler,
    RemoveCredentialsHandler,
    ListConnectorsHandler,
    FindConnectorNameHandler,
    ListToolsHandler,
    ConnectorAnswers,
    ConnectorConditions,
    ConnectorToolsReader,
    OrganizationTools,
    ServedWords,
    PolicyLinter,
    ListAnswers,
  ],
})
export class ConnectorsModule {}
