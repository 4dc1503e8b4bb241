"""A worker: carries out the tasks of the queue mail until Ctrl-C."""

from punctual import Punctual, Task

app = Punctual()


@app.task("mail")
def send(task: Task) -> str:
    return f"sent to {task.payload['to']}"


app.run()
