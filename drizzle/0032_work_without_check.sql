-- The kinds of work are those that the resources declare, so a fault may be of a kind that no CHECK can list.
ALTER TABLE "worker_fault" DROP CONSTRAINT "worker_fault_work";