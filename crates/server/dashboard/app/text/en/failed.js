// Texts of the page about failed tasks.
export default {
  "failed.clean": "Clean",
  "failed.clean-title": "Remove all with this error?",
  "failed.count": "Tasks",
  "failed.error": "Error",
  "failed.example": "Last task",
  "failed.last": "Last failed",
  "failed.no-error": "(no error given)",
  "failed.none": "Nothing has failed.",
  "failed.retry": "Retry",
  "failed.retry-title": "Retry all with this error?",
  "failed.title": "Failed",
};
